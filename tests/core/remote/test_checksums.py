from pathlib import Path

from core.remote.checksums import agrees, checksum


def test_published_values(tmp_path: Path) -> None:
    path = tmp_path / "hello.txt"
    path.write_bytes(b"hello\n")
    # of `git hash-object`, `sha256sum` and `md5sum`
    git = "git:ce013625030ba8dba906f756967f9e9ca394464a"
    sha = "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    md5 = "md5:b1946ac92492d2347c6235b4d2611184"
    for published in (git, sha, md5):
        kind, _, digest = published.partition(":")
        assert checksum(path, kind) == published
        assert agrees(path, published)
        assert not agrees(path, f"{kind}:{digest[::-1]}")
