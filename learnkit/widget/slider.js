// A native slider with a name, over any list of values.

export default {
  render({ model, el }) {
    const label = document.createElement("label");
    const range = document.createElement("input");
    const shown = document.createElement("output");
    const values = model.get("options");
    Object.assign(range, { type: "range", min: 0, max: values.length - 1, step: 1 });
    label.className = "lk-slider";
    range.setAttribute("aria-label", model.get("description"));
    label.append(`${model.get("description")} `, range, shown);
    const tell = () => {
      range.setAttribute("aria-valuetext", (shown.textContent = values[range.value]));
    };
    const follow = () => {
      range.value = values.indexOf(model.get("value"));
      tell();
    };
    range.oninput = tell;
    range.onchange = () => {
      model.set("value", values[range.value]);
      model.save_changes();
    };
    // On the window and first: JupyterLab would take the arrows for itself.
    const life = new AbortController();
    const ours = (event) => event.composedPath()[0] === range && event.stopPropagation();
    window.addEventListener("keydown", ours, { capture: true, signal: life.signal });
    model.on("change:value", follow);
    follow();
    el.append(label);
    return () => {
      life.abort();
      model.off("change:value", follow);
    };
  },
};
