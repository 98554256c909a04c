"""Encoders run by ONNX Runtime."""
