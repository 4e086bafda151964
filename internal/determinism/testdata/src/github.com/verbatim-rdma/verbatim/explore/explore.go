package explore

type Scenario struct{}
