module cyxla.example/smoke

go 1.19
