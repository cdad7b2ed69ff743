"""How the window says things: titles and wording, one module per noun."""
