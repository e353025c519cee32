"""What comparisons group and filter by: facts of an environment, each with a key and a label."""

from django.db import models

DIMENSIONS = (
    "cpu",
    "cpu_vendor",
    "microarchitecture",
    "architecture",
    "os",
    "os_version",
    "openssl",
    "openssl_series",
    "openssh",
    "virtualization",
)
"""The fields of `documents.environment.Dimensions`, each a foreign key of `Environment`."""

OF_LIBRARIES = {"openssl": "ssh_library", "openssl_series": "ssh_library_series"}
"""Dimensions of the library -> the foreign key that ssh has its own value in, if it has one."""


class DimensionValue(models.Model):
    """One value of one dimension, such as the CPU "Intel Core i7-3770"."""

    dimension = models.CharField(max_length=20)
    key = models.CharField(max_length=200)
    label = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dimension", "key"], name="one_value_per_key"),
        ]

    def __str__(self) -> str:
        return self.label
