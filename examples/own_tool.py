"""A tool of your own: its name, description and schema come from the function."""

import learnkit as lk


@lk.tool
def weather(city: str, unit: str = "°C") -> str:
    """Say how warm it is.

    Args:
        city: its English name.
        unit: °C or °F.
    """
    return f"31.4 {unit} in {city}"


client = lk.scripted([lk.use("weather", city="Beijing"), lk.say("It is hot in Beijing.")])
agent = lk.Agent(client, tools=[weather])
outcome = agent.run("How warm is it in Beijing?")

print(weather.input_schema["properties"]["city"])
print(agent.messages[2]["content"][0]["content"])
print(outcome.text)
