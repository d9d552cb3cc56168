#!/usr/bin/env python3
"""Serve one GGUF file with llama.cpp's HTTP server on a loopback port, until a signal ends it.

usage: serve.py MODEL.gguf PORT NAME TEMPLATE.jinja

One computing thread on purpose: with more, llama.cpp waits busily for its own threads, and any other load on the
machine slows it down by a factor of ten.
"""

import pathlib
import signal
import sys

import xllamacpp

CONTEXT_TOKENS = 8192


def main() -> None:
    if len(sys.argv) != 5:
        sys.exit("usage: serve.py MODEL.gguf PORT NAME TEMPLATE.jinja")
    model, port, name, template = sys.argv[1:]
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = {name}
    settings.port = int(port)
    settings.n_ctx = CONTEXT_TOKENS
    settings.n_parallel = 1
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    settings.offline = True
    settings.use_jinja = True
    settings.chat_template = pathlib.Path(template).read_text(encoding="utf-8")
    server = xllamacpp.Server(settings)
    print(f"serving {name} at {server.listening_address}", flush=True)
    signal.pause()


main()
