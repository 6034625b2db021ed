"""What is left of a view once directions have been taken: six ways, each one class."""
