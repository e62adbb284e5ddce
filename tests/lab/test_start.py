import ast

from stepscope.lab.start import demo_script


def test_the_demos_program_comes_with_the_package_and_knows_nothing_of_it():
    source = demo_script().read_text(encoding="utf-8")
    modules = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
        )
    }
    assert "torch" in modules
    assert "stepscope" not in modules
