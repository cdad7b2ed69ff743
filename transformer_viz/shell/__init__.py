"""The window as a whole: its panels, commands, documents, and the controller behind them."""
