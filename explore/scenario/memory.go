package scenario

import (
	"fmt"
	"math"
	"reflect"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// Memory returns a T that is zero before each run. All of it is part of what the
// checks remember: the fingerprint omits no field. T is plain data: numbers, booleans,
// strings, and structs, arrays, slices and maps of those. After a change call
// [Kit.History]. Code that looks at it without a change, or keeps a copy, calls Look of
// [explore.Case] before.
func Memory[T any](k *Kit) *T {
	v := new(T)
	k.Remember(func() { *v = *new(T) }, func() fingerprint.Print {
		p, err := valuePrint(fingerprint.Print{}, reflect.ValueOf(v).Elem())
		k.Check(err)
		return p
	})
	return v
}

// ErrValue: a value is not plain data, so it has no fingerprint.
var ErrValue = fmt.Errorf("%w: the memory of the checks is not plain data", explore.ErrScenario)

// anyPrint adds a value and its type.
func anyPrint(p fingerprint.Print, x any) (fingerprint.Print, error) {
	if x == nil {
		return p.String(""), nil
	}
	v := reflect.ValueOf(x)
	return valuePrint(p.String(v.Type().PkgPath()).String(v.Type().String()), v)
}

// valuePrint adds a value of a known type: unequal values have unequal prints.
func valuePrint(p fingerprint.Print, v reflect.Value) (fingerprint.Print, error) {
	switch v.Kind() {
	case reflect.Bool:
		return p.Bool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return p.Uint(uint64(v.Int())), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return p.Uint(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return p.Uint(math.Float64bits(v.Float())), nil
	case reflect.String:
		return p.String(v.String()), nil
	case reflect.Struct:
		return structPrint(p, v)
	case reflect.Array:
		return listPrint(p, v)
	case reflect.Slice:
		return listPrint(p.Bool(v.IsNil()).Int(v.Len()), v)
	case reflect.Map:
		return mapPrint(p.Bool(v.IsNil()).Int(v.Len()), v)
	case reflect.Interface:
		if v.IsNil() {
			return p.String(""), nil
		}
		v = v.Elem()
		return valuePrint(p.String(v.Type().PkgPath()).String(v.Type().String()), v)
	}
	return p, fmt.Errorf("%w: it holds a %v", ErrValue, v.Type())
}

func structPrint(p fingerprint.Print, v reflect.Value) (fingerprint.Print, error) {
	var err error
	for i := 0; i < v.NumField() && err == nil; i++ {
		p, err = valuePrint(p, v.Field(i))
	}
	return p, err
}

func listPrint(p fingerprint.Print, v reflect.Value) (fingerprint.Print, error) {
	var err error
	for i := 0; i < v.Len() && err == nil; i++ {
		p, err = valuePrint(p, v.Index(i))
	}
	return p, err
}

// mapPrint adds the entries, in any order.
func mapPrint(p fingerprint.Print, v reflect.Value) (fingerprint.Print, error) {
	var sum fingerprint.Print
	for it := v.MapRange(); it.Next(); {
		e, err := valuePrint(fingerprint.Print{}, it.Key())
		if err == nil {
			e, err = valuePrint(e, it.Value())
		}
		if err != nil {
			return p, err
		}
		sum = sum.Plus(e)
	}
	return p.Print(sum), nil
}
