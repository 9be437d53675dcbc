/* A good shared library that is no PJRT plugin. */

int cyxla_not_a_plugin(void);

int cyxla_not_a_plugin(void) { return 0; }
