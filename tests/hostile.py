"""A robot whose names try to break whatever text they are written into."""

import supple

NAME = 'arm"; */ int x; /* <&> \n#error \\ $(id) %n é漢 {x} --out'
LINK = "-a\"b*/int_x;/*<&>'$(id)%n{x}\\é漢#"


def hostile_robot(name: str = "de-luca-two-link") -> supple.Robot:
    robot = supple.load(name)
    data = robot.model_dump(mode="json", exclude_defaults=True)
    data |= {"name": NAME, "architecture": robot.architecture}
    data["links"] = [{**link, "name": f"{LINK}{k}"} for k, link in enumerate(data["links"])]
    return type(robot).model_validate(data)
