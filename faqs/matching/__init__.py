"""Which FAQ is meant is learned from what staff curate, a classifier a collection."""
