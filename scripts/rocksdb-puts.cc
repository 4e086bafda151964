// rocksdb-puts DIR N writes N small records to a new RocksDB database in DIR,
// each made durable before the next (WriteOptions::sync), so that a trace of
// it shows the write-ahead log at work. scripts/record-traces compiles it.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"

namespace {

// QuietLogger drops RocksDB's information log, which would be most of the
// trace.
class QuietLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

void Check(const rocksdb::Status& s) {
  if (!s.ok()) {
    std::fprintf(stderr, "rocksdb-puts: %s\n", s.ToString().c_str());
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: rocksdb-puts DIR N\n");
    return 2;
  }
  const int n = std::atoi(argv[2]);

  rocksdb::Options options;
  options.create_if_missing = true;
  options.info_log = std::make_shared<QuietLogger>();
  options.avoid_flush_during_shutdown = true;  // leave the records in the log
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;

  rocksdb::DB* db = nullptr;
  Check(rocksdb::DB::Open(options, argv[1], &db));

  rocksdb::WriteOptions durable;
  durable.sync = true;
  for (int i = 1; i <= n; i++) {
    rocksdb::WriteBatch batch;
    const std::string id = std::to_string(i);
    Check(batch.Put("account:" + id, std::to_string(i * 100)));
    if (i % 4 == 0) {
      // A batch of several changes is one record of the log.
      Check(batch.Put("account:" + std::to_string(i / 2), "moved"));
      Check(batch.Delete("account:" + std::to_string(i / 4)));
    }
    Check(db->Write(durable, &batch));
  }
  Check(db->Close());
  delete db;
  return 0;
}
