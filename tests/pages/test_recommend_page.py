import re
from html import unescape

import pytest
from django.test import Client

from runs.models import Run
from tests.api.test_recommendation import CHACHA, GCM256, facts, machine, series, usual
from tests.conftest import ApiClient, StoreRun
from tests.pages.conftest import page, text_of
from tests.sample_documents import openssl_measurement, ssh_measurement

URL = "/recommend/"
DEFAULT = "chacha20-poly1305, the OpenSSH 9.9 default"
SILENT = openssl_measurement("aes-256-gcm", 5e9)


def order(html: str) -> list[str]:
    return [unescape(cipher) for cipher in re.findall(r'<tr data-cipher="([^"]*)"', html)]


def lines(html: str, name: str) -> str:
    found = re.search(rf'id="{name}".*?<code>(.*?)</code>', html, re.S)
    assert found
    return unescape(found[1])


def test_a_host_gets_its_order_the_gain_and_the_lines(member: Client, store_run: StoreRun) -> None:
    run = store_run(usual())
    html = page(member, URL, host="nas")
    said = text_of(html)
    assert order(html) == [GCM256, CHACHA]
    gain = (
        f"2.00 times as fast as {DEFAULT} (noise range 1.96–2.04). It uses 2.50 fewer CPU seconds"
    )
    assert f"Use {GCM256}: 600 MB/s, {gain}" in said
    assert "only the client's order matters" in said
    assert lines(html, "ssh-config").endswith(f"Host *\n    Ciphers {GCM256},{CHACHA}\n")
    assert lines(html, "sshd-config").endswith(f"\nCiphers {GCM256},{CHACHA}\n")
    assert 'data-copy="ssh-config"' in html
    assert f'href="/runs/{run.run_id}/"' in html
    assert "the modern policy excludes it because it is rated acceptable" in said
    permalink = re.search(r'id="permalink" href="([^"]*)"', html)
    assert permalink
    address = unescape(permalink[1])
    assert address in lines(html, "ssh-config")
    assert order(page(member, address.removeprefix("http://testserver"))) == order(html)


def test_figures_that_deserve_doubt_say_so_before_anybody_follows_them(
    member: Client, store_run: StoreRun
) -> None:
    said = "other programs used 0.80 CPU cores before the start"
    scattered = ssh_measurement(GCM256, 80e6, 100e6, 200e6)
    disturbed = machine(
        "nas", scattered, series(CHACHA, 20), conditions=[{"code": "busy", "detail": said}]
    )
    host = store_run(disturbed).host
    assert host
    caution = f"The ranking uses disturbed runs on nas ({said}). Measure again before you change"
    html = page(member, URL, host="nas")
    for text in (text_of(html), text_of(page(member, f"/hosts/{host.pk}/"))):
        assert caution in text
    assert caution in lines(html, "ssh-config").replace("\n# ", " ")
    assert html.count(">low confidence</span>") == 2
    answer = member.get("/api/v1/recommendation/", {"host": "nas"}).json()
    assert answer["caution"].startswith(caution)
    first = answer["order"][0]
    # The whisker shows noise = 2 * 1.2533 * s / sqrt(3), with s = 1.4826 * 20 / 100.
    assert first["measured"][0]["noise"] == pytest.approx(0.4291, abs=1e-4)
    assert (first["low"], first["high"]) == pytest.approx((57.09e6, 142.91e6), rel=1e-3)


def test_hidden_aes_is_to_be_mended_before_a_slow_cipher_is_chosen(
    member: Client, store_run: StoreRun
) -> None:
    run = store_run(usual())
    assert "AES hardware of" not in page(member, "/recommend/", host="nas")
    advice = "Give the guest the CPU type of its host."
    Run.objects.filter(pk=run.pk).update(acceleration="hidden", acceleration_advice=advice)
    said = text_of(page(member, "/recommend/", host="nas"))
    assert "AES hardware on nas is hidden" in said
    assert advice in said


def test_a_host_is_found_by_its_name(member: Client, store_run: StoreRun) -> None:
    store_run(usual("My NAS"))
    assert "Ciphers for My NAS" in text_of(page(member, URL, host="My NAS"))
    assert "Ciphers for My NAS" in text_of(page(member, URL, host=" my-nas "))
    assert "Ciphers for My NAS" in text_of(page(member, f"{URL}?client=my nas&server=my-nas"))
    html = page(member, URL, expect=404, host="nas")
    assert "Host “ nas ” not found" in text_of(html)
    assert 'href="?host=my-nas"' in html


def test_digits_that_are_a_number_and_a_name_are_not_guessed(
    member: Client, reader: ApiClient, store_run: StoreRun
) -> None:
    number = store_run(usual("attic")).host_id
    named = store_run(usual(str(number))).host
    store_run(usual("70000"))
    assert named is not None
    assert "Ciphers for 70000" in text_of(page(member, URL, host="70000"))
    both = page(member, URL, host=str(number))
    assert set(re.findall(r'href="\?host=([^"]*)"', both)) >= {"attic", f"host-{number}"}
    assert f"Ciphers for {number}" in text_of(page(member, URL, host=named.slug))
    for reference, key in ((number, "attic"), (named.slug, named.slug), (named.pk, named.slug)):
        assert reader.get(f"/api/v1/hosts/{reference}/").json()["host"] == key


def test_a_pair_says_what_to_expect_and_which_links_are_filled(
    member: Client, store_run: StoreRun
) -> None:
    store_run(usual("laptop", gcm=500, chacha=450))
    store_run(usual("server", gcm=900, chacha=130))
    form = page(member, URL)
    assert {'name="client"', 'name="server"'} <= set(re.findall(r'name="\w+"', form))
    assert "Ciphers for laptop" in text_of(page(member, f"{URL}?client=laptop&server=&link="))
    html = page(member, f"{URL}?client=laptop&server=server&link=1GbE")
    said = text_of(html)
    assert "Ciphers for laptop to server" in said
    assert f"Use {GCM256}: estimated 118 MB/s (limited by the link)" in said
    tie = "The link limits several ciphers to the same speed."
    assert tie in said
    assert tie not in text_of(page(member, f"{URL}?client=laptop&server=server"))
    no_gain = "1.00 × within the noise 1.00 to 1.00"
    assert f"500 MB/s low confidence 900 MB/s low confidence {no_gain} link 1 GbE" in said
    assert "450 MB/s low confidence 130 MB/s low confidence default link 1 GbE" in said
    assert f"not measurably faster than {DEFAULT}" in said
    assert "~/.ssh/config on laptop" in said
    assert "sshd_config on server" in said
    assert '<option value="1GbE" selected>' in html


def test_a_group_says_what_each_host_loses(member: Client, store_run: StoreRun) -> None:
    for number in range(21):
        store_run(usual(f"x86 {number:02}", gcm=600, chacha=300))
    store_run(usual("arm", gcm=200, chacha=400))
    store_run(machine("mute", SILENT))
    html = page(member, f"{URL}?tag=rack:b2")
    said = text_of(html)
    assert "Ciphers for 22 hosts" in said
    assert f"Use {GCM256}: on average, the 22 hosts reach 97 % of the speed of their best" in said
    assert "for 20 of 22 hosts, largest loss first" in said
    losers = re.findall(r'<tr data-host="([^"]*)"', html)
    assert (losers[0], len(losers)) == ("arm", 20)
    named = text_of(page(member, f"{URL}?host=arm&host=mute&host=x86 01"))
    assert "Excluded (no loopback SSH results): mute" in named


def test_what_is_missing_is_said(member: Client, store_run: StoreRun) -> None:
    assert "No SSH results yet" in text_of(page(member, URL))
    store_run(machine("bare", SILENT))
    assert "bare has no loopback SSH results" in text_of(page(member, URL, host="bare"))
    store_run(machine("dull", series(GCM256, 600), environment=facts(None, None)))
    html = page(member, URL, host="dull")
    assert "The gain is unknown because no run reports the default cipher" in text_of(html)
    assert "dull : client unknown, server unknown; default: unknown" in text_of(html)
    store_run(machine("weak", series("3des-cbc", 9)))
    html = page(member, URL, host="weak")
    assert "No cipher allowed by the policy “modern” was measured on weak" in text_of(html)
    assert "data-copy" not in html
    html = page(member, URL, host="weak", policy="everything")
    assert "Warning: this list includes weak ciphers" in lines(html, "ssh-config").replace(
        "\n# ", " "
    )
    assert "No matching host has loopback SSH results" in text_of(page(member, URL, tag="a:b"))
    assert "Add hosts, a tag or another filter" in text_of(page(member, f"{URL}?for=group"))
    assert "Enter a client and a server" in text_of(page(member, URL))
    assert "requires client=HOST and server=HOST" in text_of(page(member, URL, 400, server="weak"))


def test_the_host_page_leads_to_its_recommendation(member: Client, store_run: StoreRun) -> None:
    run = store_run(usual())
    html = page(member, f"/hosts/{run.host_id}/")
    assert f"Use {GCM256}: 600 MB/s, 2.00 times as fast as {DEFAULT}" in text_of(html)
    assert 'href="/recommend/?host=nas"' in html


def test_a_default_that_is_the_best_is_kept(member: Client, store_run: StoreRun) -> None:
    store_run(usual("kept", environment=facts(default=GCM256)))
    said = text_of(page(member, URL, host="kept"))
    assert f"Keep {GCM256}: 600 MB/s, the OpenSSH 9.9 default." in said
