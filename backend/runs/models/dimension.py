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
"""Names of the fields in `cipherspeed.environment.Dimensions` and `Environment`."""

OF_LIBRARIES = {"openssl": "ssh_library", "openssl_series": "ssh_library_series"}
"""Name of the foreign key for the library of ssh, by dimension.

The foreign key is null if ssh uses the same library as the openssl program.
"""


class DimensionValue(models.Model):
    """Store a value of a dimension, that is, a property of environments, such as a CPU model."""

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
    """Store an environment. Runs with the same `fingerprint` have the same environment.

    This table has only the properties by which results can be grouped. The run document contains
    all properties.
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
    ssh_library = models.ForeignKey(
        DimensionValue,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name="SSH library",
        help_text="Library of ssh, if it is not this OpenSSL.",
    )
    ssh_library_series = models.ForeignKey(
        DimensionValue,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name="SSH library series",
    )
    ssh_environment = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="Equal for environments that are equivalent for ssh.",
    )

    def __str__(self) -> str:
        return self.fingerprint[:12]

    @property
    def of_ssh(self) -> DimensionValue:
        return self.library("ssh")

    def library(self, tool: str) -> DimensionValue:
        return (self.ssh_library if tool == "ssh" else None) or self.openssl
