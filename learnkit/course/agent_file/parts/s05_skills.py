import sys

import yaml


def parse_skill(text: str) -> tuple[dict, str]:
    """Split a skill into its fields and its instructions, at lines that are just `---`."""
    first, *lines = text.splitlines()
    if first != "---" or "---" not in lines:
        raise ValueError("it does not begin with fields between two lines ---")
    end = lines.index("---")
    fields = yaml.safe_load("\n".join(lines[:end]))
    if not isinstance(fields, dict) or not fields.get("name") or not fields.get("description"):
        raise ValueError("it needs the fields name and description")
    return fields, "\n".join(lines[end + 1 :]).strip()


def skills_in(folder: Path) -> dict[str, tuple[dict, str, Path]]:
    """The skills of a project by name; those that cannot be read are reported and left out."""
    found = {}
    for path in sorted(folder.glob("skills/*/SKILL.md")):
        try:
            if not path.resolve().is_relative_to(folder):
                raise ValueError("it is a link that leads out of the project")
            fields, body = parse_skill(path.read_text("utf-8"))
            if fields["name"] != path.parent.name:
                raise ValueError(f"its name is {fields['name']!r}")
            found[fields["name"]] = fields, body, path.parent
        except (ValueError, yaml.YAMLError) as error:
            print(f"{path} is left out: {error}", file=sys.stderr)
    return found


def entry(fields: dict) -> str:
    """The line of the catalogue from which the model chooses."""
    return f"- {fields['name']}: {' '.join(fields['description'].split())}"


@hook("start")
def offer_skills(agent: Agent) -> None:
    """Put the catalogue into the system prompt; without skills there is no tool to load one."""
    if skills := skills_in(agent.folder):
        agent.groups.add("skills")
        lines = [entry(fields) for fields, _, _ in skills.values()]
        agent.system += "\n".join(["\n\nLoad a skill before work that it fits:", *lines])


@tool("skills")
def load_skill(agent: Agent, name: str) -> str:
    """Load the instructions of a skill that the system prompt lists."""
    skills = skills_in(agent.folder)
    if name not in skills:
        raise LookupError(f"no skill {name!r}; there are: {', '.join(skills)}")
    _, body, folder = skills[name]
    return f'<skill name="{name}" folder="{folder.relative_to(agent.folder)}">\n{body}\n</skill>'
