"""The settings of a run in the words of the form: label, meaning, and what an empty field means."""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """``meaning`` is one or more sentences; ``empty`` says what nothing typed stands for."""

    label: str
    meaning: str
    empty: str = ""


_IDS = "Special tokens differ from each other, except that begin may be padding."
WORDS: dict[str, Words] = {
    "steps": Words("Updates", "How many updates the run makes."),
    "source_batch_tokens": Words(
        "Source tokens per batch", "Largest number of source tokens in a batch, with padding."
    ),
    "target_batch_tokens": Words(
        "Target tokens per batch", "Largest number of target tokens in a batch, with padding."
    ),
    "warmup": Words("Warm-up", "Updates in which the learning rate rises (section 5.3)."),
    "peak_factor": Words("Peak factor", "Multiplies the paper's learning rate."),
    "vocab_size": Words(
        "Vocabulary size",
        "Pieces that the run's vocabulary has; fewer where the text does not hold as many.",
    ),
    "d_model": Words("d_model", "Width of every layer's input and output."),
    "encoder_layers": Words("Encoder layers", "N of section 3.1."),
    "decoder_layers": Words("Decoder layers", "N of section 3.1."),
    "encoder_heads": Words("Encoder heads", "h of section 3.2.2."),
    "decoder_heads": Words("Decoder heads", "h of section 3.2.2."),
    "encoder_d_ff": Words(
        "Encoder d_ff", "Inner width of the encoder's feed-forward layers (section 3.3)."
    ),
    "decoder_d_ff": Words(
        "Decoder d_ff", "Inner width of the decoder's feed-forward layers (section 3.3)."
    ),
    "dropout": Words(
        "Dropout",
        "Share of numbers set to zero after each sub-layer and embedding (section 5.4).",
    ),
    "label_smoothing": Words("Label smoothing", "ε of section 5.4."),
    "device": Words("Device", "What computes: auto, cpu, cuda, cuda:1 … or mps."),
    "precision": Words(
        "Precision",
        "fp32 is the default. bf16 and fp16 multiply matrices in half the bits on CUDA; fp16 "
        "scales the loss so that small gradients stay above zero. fp64 is slow and serves "
        "comparisons.",
    ),
    "seed": Words(
        "Seed", "Decides the vocabulary, the weights, the dropout and the order of the batches."
    ),
    "grammar_wide": Words(
        "Wide lexicon",
        "Whether the generated sentences also have the words that were added for models which "
        "translate ordinary text as well.",
    ),
    "whole_words": Words(
        "Whole words",
        "Words that become one piece of the vocabulary even where the data has them seldom, one "
        "in each line.",
    ),
    "grammar_pairs": Words(
        "Generated pairs", "Sentence pairs generated for each epoch, new ones every time."
    ),
    "validation_pairs": Words(
        "Validation sentences", "Largest number held out for validation from each source of data."
    ),
    "max_length": Words("Longest sentence", "Pairs with more tokens on a side are left out."),
    "licence": Words(
        "Licence", "Of the files in the data; it is written into the model.", "not stated"
    ),
    "accumulation": Words("Batches per update", "Their gradients are added up to one update."),
    "cooldown": Words(
        "Cool-down", "Last share of the updates, in which the learning rate falls to zero."
    ),
    "clip_norm": Words(
        "Largest gradient norm", "A longer gradient is shortened to this norm.", "no limit"
    ),
    "adam_beta1": Words("Adam β₁", "Decay of the mean of the gradients (section 5.3)."),
    "adam_beta2": Words("Adam β₂", "Decay of the mean of their squares (section 5.3)."),
    "adam_epsilon": Words("Adam ε", "Added to the root of the squares' mean (section 5.3)."),
    "gloss_weight": Words(
        "Gloss weight",
        "How many target tokens a gloss counts for: the German word that the encoder's output at "
        "a pronoun, an article or a verb must predict. 0 trains without glosses.",
    ),
    "init_scale": Words(
        "Initial scale",
        "Multiplies the first weights of values, outputs and feed-forward layers. Below 1 it keeps "
        "the encoder's outputs at different positions from growing alike at the start.",
    ),
    "log_every": Words("Log every", "Updates between two points of the curves."),
    "validate_every": Words("Validate every", "Updates between two validations."),
    "checkpoint_every": Words("Save every", "Updates between two checkpoints."),
    "keep_checkpoints": Words("Checkpoints kept", "The newest that stay in the run folder."),
    "average_last": Words(
        "Checkpoints averaged", "The last ones, whose mean becomes the run's model."
    ),
    "early_stopping": Words(
        "Early stopping",
        "Ends the run after this many validations in a row that were not better than the best.",
        "never",
    ),
    "best_by": Words(
        "Best by", "What makes a validation better: a lower valid_loss or a higher bleu."
    ),
    "keep_best": Words("Best models kept", "Models of the best validations, beside the newest."),
    "probes": Words(
        "Probes, one per line: sentence => translation",
        "Sentences whose attention is recorded while the model learns. The decoder is fed the "
        "translation, if there is one.",
    ),
    "probe_points": Words(
        "Probe points",
        "How often the probes are recorded, evenly in the logarithm of the step, besides once at "
        "the start. 0 records nothing.",
    ),
    "tensorboard": Words("TensorBoard", "Writes the curves for TensorBoard too."),
    "threads": Words(
        "Threads",
        "Of the CPU. Sums depend on their number in the last bit, so a run keeps it.",
        "as many as are fastest",
    ),
    "product": Words(
        "Matrix product",
        "Which kernel multiplies matrices in float32 on a CPU; auto takes the fastest. Sums depend "
        "on it in the last bit, so a run keeps it.",
    ),
    "tf32": Words("TF32", "On CUDA, rounds factors of float32 products to 10 bits of mantissa."),
    "compile": Words("Compile", "By torch.compile: slower to start, faster to run on a GPU."),
    "d_k": Words("d_k", "Width of a query or key of one head.", "d_model / heads"),
    "d_v": Words("d_v", "Width of a value of one head.", "the same as d_k"),
    "activation": Words("Activation", "Of the feed-forward layers (section 3.3)."),
    "norm": Words(
        "Norm",
        "post normalises after the residual sum, as the paper does; pre normalises the input of "
        "each sub-layer.",
    ),
    "norm_epsilon": Words("Norm ε", "Added to the variance before its root is taken."),
    "bias": Words("Bias", "In the attention's projections; the paper names none."),
    "output_bias": Words("Output bias", "A bias on each piece's score."),
    "shared_embeddings": Words(
        "Shared embeddings",
        "all ties source, target and output matrices, as the paper does; target ties target and "
        "output, inputs ties source and target; none ties nothing.",
    ),
    "scale_embedding": Words("Scaled embeddings", "Multiplied by √d_model (section 3.4)."),
    "decoder_start": Words(
        "Decoder start",
        "What the decoder is fed first: bos is the embedding of the begin token, zero a vector of "
        "zeros, as in Marian.",
    ),
    "positions": Words("Positions", "sinusoidal (section 3.5) or learned (Table 3, row E)."),
    "position_layout": Words(
        "Position layout",
        "interleaved puts sine on even and cosine on odd columns, as the paper does; halves puts "
        "all sines first.",
    ),
    "position_denominator": Words(
        "Position denominator",
        "d_model divides exponents by d_model, as the paper does; d_model-2 makes the last "
        "wavelength exactly 10000·2π.",
    ),
    "max_positions": Words(
        "Learned positions", "Rows of a learned table; sinusoids have no such limit."
    ),
    "pad_id": Words("Padding id", _IDS),
    "unk_id": Words("Unknown id", _IDS),
    "bos_id": Words("Begin id", _IDS),
    "eos_id": Words("End id", _IDS),
    "pruned_heads": Words(
        "Heads left out, one per line, as encoder:1.4",
        "The model is trained without them; the others keep their numbers.",
    ),
}
