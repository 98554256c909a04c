"""Courses, their codes and their prerequisites."""
