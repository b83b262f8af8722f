"""How the library is run: commands in the test's own process or outside it, servers, pools, the wheel."""
