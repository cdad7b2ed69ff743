"""Getting things out: pictures, tables, traces and animations, to a file or the clipboard."""
