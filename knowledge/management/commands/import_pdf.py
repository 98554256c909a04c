from knowledge.management.commands import import_files


class Command(import_files.Command):
    help = f"The same as import_files, by its former name. {import_files.Command.help}"
