"""What the kinds of attention, and the axes of their maps, are called in the window."""

from core.trace.trace import AttentionKind

TITLES = {
    AttentionKind.ENCODER_SELF: "Encoder self",
    AttentionKind.DECODER_SELF: "Decoder self",
    AttentionKind.CROSS: "Cross",
}

LONG_TITLES = {
    AttentionKind.ENCODER_SELF: "Encoder self-attention",
    AttentionKind.DECODER_SELF: "Decoder self-attention",
    AttentionKind.CROSS: "Cross-attention",
}

AXES = {
    AttentionKind.ENCODER_SELF: "Row: the source token that looks (query). Column: the source "
    "token looked at (key).",
    AttentionKind.DECODER_SELF: "Row: the last token so far → the token predicted. "
    "Column: the target token looked at.",
    AttentionKind.CROSS: "Row: the last target token so far → the token predicted. "
    "Column: the source token looked at.",
}
