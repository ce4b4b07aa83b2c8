"use strict";
const charts = JSON.parse(document.getElementById("points").textContent);
const number = new Intl.NumberFormat("en").format;

for (const chart of document.querySelectorAll("[data-chart]")) {
  const points = charts[Number(chart.dataset.chart)];
  const plot = chart.querySelector(".plot");
  const tip = chart.querySelector(".tip");
  const crosshair = chart.querySelector(".crosshair");

  const say = (text, share) => {
    tip.textContent = text;
    tip.hidden = false;
    const room = plot.clientWidth - tip.offsetWidth;
    const left = Math.max(0, Math.min(room, share * plot.clientWidth - tip.offsetWidth / 2));
    tip.style.left = plot.offsetLeft + left + "px";
    tip.style.top = -(tip.offsetHeight + 6) + "px";
  };
  const hush = () => {
    tip.hidden = true;
    crosshair.style.visibility = "hidden";
  };

  plot.addEventListener("pointermove", (event) => {
    if (event.target.closest(".marker")) return;
    const box = plot.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    const call = Math.round(share * (points.length - 1));
    const at = points.length > 1 ? call / (points.length - 1) : 0;
    const [message, prompt, whole] = points[call];
    crosshair.setAttribute("x1", at * 1000);
    crosshair.setAttribute("x2", at * 1000);
    crosshair.style.visibility = "visible";
    say("call " + number(call + 1) + ", message " + number(message) + "\n" + number(prompt) + " tokens\n"
      + number(whole) + " without compaction", at);
  });
  plot.addEventListener("pointerleave", hush);

  for (const marker of chart.querySelectorAll(".marker")) {
    const show = () => say(marker.dataset.told, parseFloat(marker.style.left) / 100);
    marker.removeAttribute("title"); // it only stands in where no script runs
    marker.addEventListener("pointerenter", show);
    marker.addEventListener("focus", show);
    marker.addEventListener("click", show);
    marker.addEventListener("pointerleave", hush);
    marker.addEventListener("blur", hush);
  }
}

// A closed digest would be missing on paper.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    details.dataset.opened = "";
  }
});
addEventListener("afterprint", () => {
  for (const details of document.querySelectorAll("details[data-opened]")) {
    details.open = false;
    delete details.dataset.opened;
  }
});
