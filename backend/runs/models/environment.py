"""What can change on a host and affects speed."""

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


class Environment(models.Model):
    """A distinct environment, recognised by the fingerprint of its stable facts.

    The facts themselves stay in each run's document: readings among them differ from run to run.
    """

    fingerprint = models.CharField(max_length=64, unique=True)
    cpu = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+", verbose_name="CPU")
    cpu_vendor = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="CPU vendor"
    )
    microarchitecture = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+")
    architecture = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+")
    os = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+", verbose_name="OS")
    os_version = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="OS version"
    )
    openssl = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="OpenSSL"
    )
    openssl_series = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="OpenSSL series"
    )
    openssh = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="OpenSSH"
    )
    virtualization = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return self.fingerprint[:12]
