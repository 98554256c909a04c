"""Learns which FAQ is meant from what staff curate, a classifier a collection."""
