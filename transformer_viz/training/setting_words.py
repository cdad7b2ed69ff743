"""The settings of a run in the words of the form: label, meaning, and what an empty field means."""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """The words of a setting: ``meaning`` in sentences, ``empty`` for what an empty field means."""

    label: str
    meaning: str
    empty: str = ""


_IDS = "Id of this special token. The ids must all differ, except that begin may equal padding."
WORDS: dict[str, Words] = {
    "steps": Words("Steps", "Number of steps in the run; each step is one update of the weights."),
    "source_batch_tokens": Words(
        "Source tokens per batch", "Maximum number of source tokens in a batch, including padding."
    ),
    "target_batch_tokens": Words(
        "Target tokens per batch", "Maximum number of target tokens in a batch, including padding."
    ),
    "warmup": Words("Warm-up", "Number of steps over which the learning rate rises (section 5.3)."),
    "peak_factor": Words("Peak factor", "Factor on the paper's learning rate."),
    "vocab_size": Words(
        "Vocabulary size",
        "Number of pieces in the vocabulary; fewer if the text does not yield as many.",
    ),
    "d_model": Words("d_model", "Width of every layer's input and output."),
    "encoder_layers": Words("Encoder layers", "Number of layers: N in section 3.1."),
    "decoder_layers": Words("Decoder layers", "Number of layers: N in section 3.1."),
    "encoder_heads": Words("Encoder heads", "Number of heads per layer: h in section 3.2.2."),
    "decoder_heads": Words("Decoder heads", "Number of heads per layer: h in section 3.2.2."),
    "encoder_d_ff": Words(
        "Encoder d_ff", "Inner width of the encoder's feed-forward layers (section 3.3)."
    ),
    "decoder_d_ff": Words(
        "Decoder d_ff", "Inner width of the decoder's feed-forward layers (section 3.3)."
    ),
    "dropout": Words(
        "Dropout",
        "Fraction of activations set to zero after each sub-layer and embedding (section 5.4).",
    ),
    "label_smoothing": Words("Label smoothing", "Amount of smoothing: ε_ls in section 5.4."),
    "device": Words("Device", "Device to train on: auto, cpu, cuda, cuda:1 … or mps."),
    "precision": Words(
        "Precision",
        "fp32 is the default. bf16 and fp16 multiply matrices in half the bits on CUDA; fp16 "
        "scales the loss so that small gradients stay above zero. fp64 is slow and meant for "
        "comparisons.",
    ),
    "seed": Words(
        "Seed",
        "Determines the vocabulary, the initial weights, dropout and the order of the batches.",
    ),
    "task": Words(
        "Task",
        "translation, or parsing: from a sentence to its constituency tree (section 6.3). The "
        "files of a parser hold bracketed trees.",
    ),
    "grammar_wide": Words(
        "Wide lexicon",
        "Whether generated sentences also use the words added for models that translate ordinary "
        "text as well.",
    ),
    "whole_words": Words(
        "Whole words",
        "Words that become a single piece of the vocabulary even if they are rare in the data, "
        "one per line.",
    ),
    "grammar_pairs": Words(
        "Generated pairs", "Number of sentence pairs generated anew for each epoch."
    ),
    "validation_pairs": Words(
        "Validation sentences",
        "Maximum number of pairs held out for validation from each data source.",
    ),
    "max_length": Words("Longest sentence", "Maximum length in tokens; longer pairs are left out."),
    "licence": Words(
        "Licence", "Licence of the data files; it is written into the model.", "not stated"
    ),
    "accumulation": Words(
        "Batches per step", "Number of batches whose gradients are added up for one step."
    ),
    "cooldown": Words(
        "Cool-down", "Final fraction of the steps, over which the learning rate falls to zero."
    ),
    "clip_norm": Words(
        "Largest gradient norm", "Longer gradients are scaled down to this norm.", "no limit"
    ),
    "adam_beta1": Words("Adam β₁", "Decay rate of the mean of the gradients (section 5.3)."),
    "adam_beta2": Words(
        "Adam β₂", "Decay rate of the mean of the squared gradients (section 5.3)."
    ),
    "adam_epsilon": Words(
        "Adam ε", "Added to the square root of the mean squared gradient (section 5.3)."
    ),
    "gloss_weight": Words(
        "Gloss weight",
        "Weight of the gloss loss, in target tokens per gloss: the encoder's output at pronouns, "
        "articles and verbs must predict that word's German form. 0 turns it off.",
    ),
    "start_from": Words(
        "Start from",
        "A bundled model, or the file of a model that this program trained. The run begins with "
        "its vocabulary, shape and weights.",
        "new weights",
    ),
    "init_scale": Words(
        "Initial scale",
        "Factor on the initial weights of values, outputs and feed-forward layers. Below 1 it "
        "keeps the encoder's outputs at different positions from becoming alike at the start.",
    ),
    "log_every": Words("Log every", "Number of steps between two points of the curves."),
    "validate_every": Words("Validate every", "Number of steps between two validations."),
    "checkpoint_every": Words("Save every", "Number of steps between two checkpoints."),
    "keep_checkpoints": Words(
        "Checkpoints kept", "Number of latest checkpoints kept in the run folder."
    ),
    "average_last": Words(
        "Checkpoints averaged", "Number of last checkpoints whose average becomes the run's model."
    ),
    "early_stopping": Words(
        "Early stopping",
        "Stop after this many validations in a row without improvement.",
        "never",
    ),
    "best_by": Words(
        "Best by", "Criterion for the best validation: lower valid_loss or higher bleu."
    ),
    "keep_best": Words(
        "Best models kept",
        "Number of models with the best validation results kept in addition to the latest.",
    ),
    "probes": Words(
        "Probes, one per line: sentence => translation",
        "Sentences whose attention is recorded during training. If a translation is given, the "
        "decoder reads it.",
    ),
    "probe_points": Words(
        "Probe points",
        "How many times the probes are recorded, evenly in the logarithm of the step, in "
        "addition to once at the start. 0 records nothing.",
    ),
    "tensorboard": Words("TensorBoard", "Also write the curves for TensorBoard."),
    "threads": Words(
        "Threads",
        "Number of CPU threads. Sums depend on it in the last bit, so a run keeps it.",
        "as many as are fastest",
    ),
    "product": Words(
        "Matrix product",
        "Kernel that multiplies float32 matrices on a CPU; auto takes the fastest. Sums depend "
        "on it in the last bit, so a run keeps it.",
    ),
    "tf32": Words("TF32", "On CUDA, round the factors of float32 products to 10 bits of mantissa."),
    "compile": Words("Compile", "Use torch.compile: slower to start, faster to run on a GPU."),
    "d_k": Words("d_k", "Size of a head's queries and keys.", "d_model / heads"),
    "d_v": Words("d_v", "Size of a head's values.", "the same as d_k"),
    "activation": Words(
        "Activation", "Activation function of the feed-forward layers (section 3.3)."
    ),
    "norm": Words(
        "Norm",
        "post normalises after the residual sum, as the paper does; pre normalises the input of "
        "each sub-layer.",
    ),
    "norm_epsilon": Words("Norm ε", "Added to the variance before taking its square root."),
    "bias": Words("Bias", "Bias in the attention projections; the paper has none."),
    "output_bias": Words("Output bias", "Bias on the score of each piece."),
    "shared_embeddings": Words(
        "Shared embeddings",
        "all ties source, target and output matrices, as the paper does; target ties target and "
        "output, inputs ties source and target; none ties nothing.",
    ),
    "scale_embedding": Words("Scaled embeddings", "Multiply embeddings by √d_model (section 3.4)."),
    "decoder_start": Words(
        "Decoder start",
        "First input of the decoder: bos is the embedding of the begin token, zero is a vector "
        "of zeros, as in Marian.",
    ),
    "positions": Words(
        "Positions",
        "sinusoidal (section 3.5), learned (Table 3, row E), rotary, which turns queries and keys "
        "by their position (RoFormer), or none.",
    ),
    "decoder_mask": Words(
        "Decoder mask",
        "Keep target positions from attending to later ones (section 3.2.3). Without it, the model "
        "sees each answer in training and has nothing to see when it translates.",
    ),
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
        "Learned positions", "Number of rows of a learned table; sinusoids have no such limit."
    ),
    "pad_id": Words("Padding id", _IDS),
    "unk_id": Words("Unknown id", _IDS),
    "bos_id": Words("Begin id", _IDS),
    "eos_id": Words("End id", _IDS),
    "pruned_heads": Words(
        "Heads left out, one per line, for example encoder:1.4",
        "The model is trained without them; the others keep their numbers.",
    ),
}
