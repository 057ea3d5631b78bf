// `docs/performance.md` and its charts, made of a run: what was required, what was measured, and all
// figures. Only what was run is in it, so a run of everything is what belongs into the repository.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chart } from './chart.ts'
import type { Section } from './options.ts'
import { machine } from './report.ts'
import type { Bar, Result } from './result.ts'
import { type Figures, median } from './rounds.ts'

const CHARTED: { section: Section; title: string }[] = [
  { section: 'http', title: 'Calls per second over HTTP, data on disk, 32 at a time' },
  {
    section: 'peers',
    title: 'Calls per second by the AWS SDK (the engine also directly), 32 at a time',
  },
]

export function writeDocument(
  docs: string,
  results: ReadonlyMap<Section, Result>,
  { parameters, busy }: { parameters: readonly string[]; busy: string | undefined },
): void {
  mkdirSync(join(docs, 'images'), { recursive: true })
  const images: string[] = []
  for (const { section, title } of CHARTED) {
    const figures = results.get(section)?.figures ?? []
    if (figures.length === 0) continue
    const image = `images/performance-${section}.svg`
    writeFileSync(join(docs, image), chart(title, figures, 32))
    images.push(`![${title}](${image})`, '')
  }
  const bars = [...results.values()].flatMap((result) => result.bars)
  const command = ['npm run bench', parameters.length > 0 ? `-- ${parameters.join(' ')}` : '']
  writeFileSync(
    join(docs, 'performance.md'),
    [
      '# Performance',
      '',
      `Written by \`${command.join(' ').trim()}\` on ${machine()}. What is compared, and how, is in`,
      '[`bench/README.md`](../bench/README.md). Rates on a machine that has other work to do say little;',
      'CPU time says more.',
      '',
      ...(busy === undefined ? [] : [busy, '']),
      ...images,
      '## What is required',
      '',
      '| | required | measured | best rounds | by CPU time | |',
      '| --- | ---: | ---: | ---: | ---: | --- |',
      ...bars.map(barRow),
      '',
      ...[...results.values()].flatMap(sectionLines),
    ].join('\n'),
  )
}

function barRow({ text, required, atMost, unit, actual, best, cpu, met }: Bar): string {
  const shown = (value: number | undefined) =>
    value === undefined ? '' : `${value.toFixed(value >= 100 || unit === '%' ? 0 : 1)} ${unit}`
  const wanted = `${atMost ? '<' : '≥'} ${required} ${unit}`
  const cells = [text, wanted, shown(actual), shown(best), shown(cpu), met ? 'met' : 'falls short']
  return `| ${cells.join(' | ')} |`
}

function sectionLines({ title, figures, notes }: Result): string[] {
  return [
    `## ${title}`,
    '',
    ...(figures.length > 0
      ? [
          '| case | target | calls/s | best | CPU µs/call |',
          '| --- | --- | ---: | ---: | ---: |',
          ...figures.map(figureRow),
          '',
        ]
      : []),
    ...notes.flatMap((note) => [`- ${note}`]),
    ...(notes.length > 0 ? [''] : []),
  ]
}

function figureRow({ target, what, concurrency, rates, cpu }: Figures): string {
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const cells = [
    `${what} @${concurrency}`,
    target,
    whole(median(rates)),
    whole(Math.max(...rates)),
    median(cpu).toFixed(1),
  ]
  return `| ${cells.join(' | ')} |`
}
