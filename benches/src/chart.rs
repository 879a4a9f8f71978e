//! The chart of a run: horizontal bars over a logarithmic axis, as SVG that is read on light and on
//! dark ground. The same figures give the same bytes.

use std::fmt::Write;

/// What is drawn.
pub(crate) struct Chart {
    /// Said above the bars.
    pub title: String,
    /// Said below the title.
    pub subtitle: String,
    /// The bars, in groups.
    pub groups: Vec<Group>,
    /// Said below the axis, a line each.
    pub notes: Vec<String>,
}

/// Bars that belong together.
pub(crate) struct Group {
    /// What they have in common.
    pub title: String,
    /// The bars, from above.
    pub bars: Vec<Bar>,
}

/// One bar.
pub(crate) struct Bar {
    /// Whose it is.
    pub label: String,
    /// How long it took, in microseconds.
    pub us: f64,
    /// How it is drawn.
    pub kind: Kind,
}

/// Whose bar it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What the others are measured against.
    Floor,
    /// One of ours.
    Ours,
    /// Another project's.
    Theirs,
}

const WIDTH: f64 = 820.0;
const MARGIN: f64 = 24.0;
/// Where the bars begin, and where the longest that fits would end: its value stands behind it.
const LEFT: f64 = 248.0;
const RIGHT: f64 = 668.0;
const ROW: f64 = 28.0;
const BAR: f64 = 16.0;
const GROUP_TITLE: f64 = 40.0;
const TOP: f64 = 68.0;
const NOTE: f64 = 18.0;

const STYLE: &str = "
text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; paint-order: stroke; stroke: #ffffff; stroke-width: 5px }
.ground { fill: #ffffff }
.title { font-size: 18px; font-weight: 600 }
.group { font-weight: 600 }
.quiet { fill: #59636e; font-size: 12px }
.value { font-variant-numeric: tabular-nums }
.strong { font-weight: 600 }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.ours { fill: #0969da }
.theirs { fill: #b6bfc8 }
.floor { fill: #818b98 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; stroke: #0d1117 }
  .ground { fill: #0d1117 }
  .quiet { fill: #9198a1 }
  .grid { stroke: #3d444d }
  .ours { fill: #4493f8 }
  .theirs { fill: #5b636d }
  .floor { fill: #818b98 }
}
";

/// The chart as SVG.
pub(crate) fn svg(chart: &Chart) -> String {
    let axis = Axis::over(
        chart
            .groups
            .iter()
            .flat_map(|group| &group.bars)
            .map(|bar| bar.us),
    );
    let mut body = String::new();
    text(&mut body, MARGIN, 34.0, "title", &chart.title);
    text(&mut body, MARGIN, 56.0, "quiet", &chart.subtitle);
    let mut y = draw_groups(&mut body, chart, &axis);
    for us in axis.marks() {
        let place = format!(
            "x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" class=\"quiet\"",
            axis.at(us)
        );
        let _ = writeln!(body, "<text {place}>{}</text>", mark(us));
    }
    y += 16.0;
    for note in &chart.notes {
        y += NOTE;
        text(&mut body, MARGIN, y, "quiet", note);
    }
    let height = y + MARGIN;
    let size = format!("viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\"");
    let title = escaped(&chart.title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n<rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" class=\"ground\"/>\n{body}</svg>\n"
    )
}

/// Draws all groups, each over a grid of its own; where the words of the axis stand below them.
fn draw_groups(svg: &mut String, chart: &Chart, axis: &Axis) -> f64 {
    let floor = chart
        .groups
        .iter()
        .flat_map(|group| &group.bars)
        .find(|bar| bar.kind == Kind::Floor);
    let mut y = TOP;
    for group in &chart.groups {
        text(svg, MARGIN, y + GROUP_TITLE - 14.0, "group", &group.title);
        y += GROUP_TITLE;
        let bottom = group.bars.iter().fold(y, |bottom, _| bottom + ROW);
        for x in axis.marks().map(|us| axis.at(us)) {
            let (from, to) = (y - 5.0, bottom - (ROW - BAR) + 5.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {from:.1}V{to:.1}\" class=\"grid\"/>"
            );
        }
        for bar in &group.bars {
            draw(svg, bar, y, axis, floor.map(|floor| floor.us));
            y += ROW;
        }
    }
    y + 14.0
}

fn draw(svg: &mut String, bar: &Bar, y: f64, axis: &Axis, floor: Option<f64>) {
    let (class, emphasis) = match bar.kind {
        Kind::Floor => ("floor", ""),
        Kind::Ours => ("ours", " strong"),
        Kind::Theirs => ("theirs", ""),
    };
    let (end, baseline) = (axis.at(bar.us), y + BAR - 3.5);
    let label = escaped(&bar.label);
    let width = end - LEFT;
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{baseline:.1}\" text-anchor=\"end\" class=\"{}\">{label}</text>",
        LEFT - 10.0,
        emphasis.trim()
    );
    let _ = writeln!(
        svg,
        "<rect x=\"{LEFT:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR:.1}\" rx=\"3\" class=\"{class}\"/>"
    );
    let times = floor
        .filter(|_| bar.kind != Kind::Floor)
        .map(|floor| times(bar.us / floor))
        .unwrap_or_default();
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{baseline:.1}\" class=\"value{emphasis}\">{}<tspan class=\"quiet\" dx=\"8\">{times}</tspan></text>",
        end + 8.0,
        milliseconds(bar.us)
    );
}

fn text(svg: &mut String, x: f64, y: f64, class: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{}</text>",
        escaped(text)
    );
}

/// A logarithmic axis, from a power of ten to where the longest bar ends.
struct Axis {
    first: i32,
    decades: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>) -> Self {
        let usable = values.filter(|us| us.is_finite() && *us > 0.0);
        let (least, most) = usable.fold((f64::MAX, 1.0), |(least, most), us| {
            (us.min(least), us.max(most))
        });
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the logarithm of any time fits many times over"
        )]
        let first = least.min(most).log10().floor() as i32;
        Self {
            first,
            decades: (most.log10() - f64::from(first)).max(1.0),
        }
    }

    /// Where a value lies from the left.
    fn at(&self, us: f64) -> f64 {
        let along = ((us.max(f64::MIN_POSITIVE).log10() - f64::from(self.first)) / self.decades)
            .clamp(0.0, 1.0);
        LEFT + along * (RIGHT - LEFT)
    }

    /// The powers of ten on it.
    fn marks(&self) -> impl Iterator<Item = f64> {
        let (first, end) = (self.first, f64::from(self.first) + self.decades);
        (first..)
            .take_while(move |power| f64::from(*power) <= end)
            .map(|power| 10_f64.powi(power))
    }
}

fn milliseconds(us: f64) -> String {
    let ms = us / 1_000.0;
    match ms {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.0} ms"),
    }
}

fn mark(us: f64) -> String {
    if us < 1_000.0 {
        format!("{} ms", us / 1_000.0)
    } else {
        format!("{:.0} ms", us / 1_000.0)
    }
}

fn times(ratio: f64) -> String {
    if ratio < 10.0 {
        format!("{ratio:.1}×")
    } else {
        format!("{ratio:.0}×")
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(longest: f64) -> Chart {
        let bar = |label: &str, us, kind| Bar {
            label: label.to_owned(),
            us,
            kind,
        };
        let bars = vec![
            bar("empty", 200.0, Kind::Floor),
            bar("a < b & c", 2_000.0, Kind::Ours),
            bar("slow", longest, Kind::Theirs),
        ];
        let group = Group {
            title: "idle".to_owned(),
            bars,
        };
        Chart {
            title: "t".to_owned(),
            subtitle: "s".to_owned(),
            groups: vec![group],
            notes: vec!["n".to_owned()],
        }
    }

    #[test]
    fn the_same_figures_give_the_same_bytes() {
        assert_eq!(svg(&chart(20_000.0)), svg(&chart(20_000.0)));
    }

    #[test]
    fn a_bar_ten_times_as_long_is_one_decade_longer_and_none_leaves_the_picture() {
        let axis = Axis::over([100.0, 1_000.0, 10_000.0].into_iter());
        assert!(
            (axis.at(1_000.0) - axis.at(100.0) - (axis.at(10_000.0) - axis.at(1_000.0))).abs()
                < 0.001
        );
        assert!((axis.at(10_000.0) - RIGHT).abs() < 0.001 && (axis.at(1e12) - RIGHT).abs() < 0.001);
        assert!((axis.at(0.0) - LEFT).abs() < 0.001 && (axis.at(100.0) - LEFT).abs() < 0.001);
        assert_eq!(axis.marks().count(), 3);
    }

    #[test]
    fn values_and_ratios_are_said_and_what_is_no_markup_is_escaped() {
        let svg = svg(&chart(123_456.0));
        for part in [
            "2.00 ms",
            ">10×<",
            "123 ms",
            ">617×<",
            "a &lt; b &amp; c",
            ">0.1 ms<",
            ">100 ms<",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
    }
}
