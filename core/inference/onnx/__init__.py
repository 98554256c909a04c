"""Encoders that ONNX Runtime runs."""
