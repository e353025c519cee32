from tests.conftest import StoreRun
from tests.sample_documents import environment, openssl_measurement, run_document

AES, DES = "aes-128-cbc", "des-ede3-cbc"
EPYC, XEON = "AMD EPYC 9R14", "Intel Xeon E5-2680"
OLD, NEW = "OpenSSL 1.1.1w", "OpenSSL 3.0.19"
HOSTS = 8


def upgraded_fleet(store_run: StoreRun, only_new: int = 0, other: str = "") -> None:
    """Store runs of Xeon and EPYC hosts before and after an upgrade, and a run of a fast EPYC host.

    The upgrade of OpenSSL slows AES on Xeons by 7 %. If `only_new` or `other` is
    set, store only runs of new EPYC hosts. `only_new`: number of these hosts (default: 1). `other`:
    OpenSSL version of these hosts (default: `NEW`).
    """

    def run(name: str, model: str, library: str, day: int, **rates: float) -> None:
        stated = {**environment(model=model), "openssl": {"version_text": library}}
        names = {"aes": AES, "des": DES}
        store_run(
            run_document(
                *(openssl_measurement(names[family], rate) for family, rate in rates.items()),
                host={"name": name},
                environment=stated,
                started_at=f"2026-01-{day:02}T00:00:00Z",
                finished_at=f"2026-01-{day:02}T00:05:00Z",
            )
        )

    if only_new or other:
        for number in range(only_new or 1):
            run(f"later-{number}", EPYC, other or NEW, 4, aes=8e9)
        return
    for number in range(HOSTS):
        speed = 1e9 * (1 + number / 10)
        for model, cost in ((EPYC, 1.0), (XEON, 0.93)):
            name = f"{model.split()[0].lower()}-{number}"
            run(name, model, OLD, 1, aes=speed, des=speed / 40)
            wobble = 1 + 0.004 * (-1) ** number
            run(name, model, NEW, 2, aes=speed * cost * wobble, des=speed / 40)
    run("fast", EPYC, NEW, 3, aes=9e9)
