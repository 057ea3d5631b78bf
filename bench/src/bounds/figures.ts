// What is measured, its bound, and the table for people.

export interface Figure {
  name: string
  value: number
  unit: 'ms' | 'events'
  max: number
}

export function isWithin({ value, max }: Figure): boolean {
  return value <= max
}

export function report(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(({ name }) => name.length))
  const lines = figures.map((figure) => {
    const { name, value, unit, max } = figure
    const shown = `${Math.round(value)} ${unit}`.padStart(12)
    const verdict = isWithin(figure) ? 'within' : 'EXCEEDS'
    return `  ${name.padEnd(width)}${shown}   ${verdict} ${max} ${unit}`
  })
  const exceeded = figures.filter((figure) => !isWithin(figure)).length
  const summary = exceeded === 0 ? 'All bounds hold' : `${exceeded} bounds exceeded`
  return `\n${lines.join('\n')}\n\n${summary}\n`
}
