/** A tiny line without axes, beside a figure. */
const HEIGHT = 24
const STEP = 10
const MIN_POINTS = 5

export function Sparkline(props: {
  /** Null where nothing is known: the line continues straight. */
  values: readonly (number | null)[]
  /** Red, if what it shows is a problem. */
  isBad?: boolean
  /** The lowest value; 0 unless the values are close to each other, such as success rates. */
  min?: number
}) {
  const { values, isBad = false, min = 0 } = props
  if (values.length < MIN_POINTS) return null
  const max = Math.max(...values.map((value) => value ?? min), min)
  const scale = max === min ? 0 : (HEIGHT - 2.2) / (max - min)
  let last = values.find((value) => value !== null) ?? min
  const points = values.map((value, index) => {
    last = value ?? last
    const y = HEIGHT - Math.max(0, last - min) * scale
    return `${index * STEP} ${Math.round(y * 10) / 10}`
  })
  const width = (values.length - 1) * STEP
  const line = `M${points.join('L')}`
  return (
    <svg
      class={isBad ? 'spark spark-bad' : 'spark'}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="area" d={`${line}L${width} ${HEIGHT}L0 ${HEIGHT}Z`} />
      <path d={line} />
    </svg>
  )
}
