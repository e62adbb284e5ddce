import io
import math

import msgspec
import pytest
from msgspec.structs import replace

from stepscope.errors import InputError
from stepscope.report import saved
from tests.report import examples


@pytest.mark.parametrize("name", examples.ALL)
def test_a_report_comes_back_as_it_was_written(name, tmp_path):
    report = examples.ALL[name]()
    path = tmp_path / "run" / "report.json"
    saved.save(report, path)
    assert saved.load(path) == report
    assert [p.name for p in path.parent.iterdir()] == ["report.json"]


def test_a_binary_file_gets_the_same_bytes():
    file = io.BytesIO()
    saved.save(examples.healthy(), file)
    assert file.getvalue() == saved.encode(examples.healthy())
    assert file.getvalue().endswith(b"\n")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_say_is_never_written(bad, tmp_path):
    report = examples.input_bound()
    finding = replace(report.findings[0], share_frac=bad)
    path = tmp_path / "report.json"
    with pytest.raises(ValueError, match=r"\$\.findings\[0\]\.share_frac"):
        saved.save(replace(report, findings=(finding,)), path)
    assert not path.exists()


def test_not_measured_is_null():
    document = msgspec.json.decode(saved.encode(examples.cpu_only()))
    assert document["ranks"][0]["gpu"] is None
    assert document["findings"][0]["gain"] is None


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty, not a stepscope report"),
        (b"  \n", "the file is empty, not a stepscope report"),
        (b'{"schema_version": 1, "ranks": [', "the file is not whole JSON at byte 32"),
        (b"\x1f\x8b\x00\xff", "the file is not whole JSON at byte 0"),
        (b'"\xff\xfe"', "the file is not whole JSON at byte"),
        (b"[1, 2]", "the file is some other JSON, not a stepscope report"),
        (b'{"traceEvents": []}', "the file is a trace, not a stepscope report"),
        (
            b'{"schema_version": 99}',
            "version 99 of the form, and this stepscope reads version 1 at ",
        ),
        (b'{"schema_version": 1}', "missing required field `stepscope_version` at $"),
    ],
)
def test_a_foreign_file_is_told_from_a_report(data, sentence, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        saved.load(path)
    assert sentence in str(error.value)
    assert str(path) in str(error.value)


def test_a_damaged_report_names_the_place(tmp_path):
    document = msgspec.json.decode(saved.encode(examples.input_bound()))
    document["kernels"][3]["total_ms"] = "much"
    with pytest.raises(InputError) as error:
        saved.decode(msgspec.json.encode(document), "r.json")
    assert error.value.place == "$.kernels[3].total_ms"
    assert "expected `float`, got `str`" in str(error.value)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d["ranks"].clear(), "$.ranks"),
        (lambda d: d["ranks"][0]["parts_ms"].update(teatime=1.0), "$.ranks[0].parts_ms"),
        (lambda d: d["ranks"][0]["steps"]["startup"].pop(), "$.ranks[0].steps"),
    ],
)
def test_promises_that_types_cannot_hold_are_checked(change, place):
    document = msgspec.json.decode(saved.encode(examples.input_bound()))
    change(document)
    with pytest.raises(InputError) as error:
        saved.decode(msgspec.json.encode(document), "r.json")
    assert error.value.place == place


def test_a_missing_file_and_a_folder_are_one_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        saved.load(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        saved.load(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        saved.save(examples.healthy(), tmp_path / "file" / "report.json")
