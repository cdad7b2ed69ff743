"""Lists the files of the source distribution; setuptools imports this when it builds."""

from setuptools.command.egg_info import egg_info, manifest_maker


class Sources(egg_info):
    """Reads the list from this folder, because the top level of the project has no file for it."""

    def find_sources(self) -> None:
        manifest_maker.template = "resources/packaging/MANIFEST.in"
        super().find_sources()
