"""What the suites stand on: a site, a model server, the program itself."""
