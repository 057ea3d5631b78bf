/** What needs an operator, worst first, each with the command that fixes it. */
import { useId } from 'preact/hooks'
import { Command } from '../../parts/copy.tsx'
import { ToneIcon } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import type { ServerStatus } from './api.ts'

type Problem = ServerStatus['problems'][number]

export function Problems({ problems }: { problems: readonly Problem[] }) {
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>Problems</h2>
        <p>
          {problems.length === 0
            ? 'Nothing needs you now'
            : 'Worst first, each with the command that fixes it'}
        </p>
      </div>
      {problems.length === 0 ? null : (
        <ul class="problems">
          {problems.map((problem) => (
            <ProblemRow key={`${problem.service} ${problem.title}`} problem={problem} />
          ))}
        </ul>
      )}
    </section>
  )
}

function ProblemRow({ problem }: { problem: Problem }) {
  const { severity, title, explanation, since, page, command } = problem
  const isBad = severity === 'bad'
  return (
    <li class={`problem-row is-${severity}`}>
      <span class="st">
        <ToneIcon shape={isBad ? 'cross' : 'triangle'} tone={severity} />
        <span class="unseen">{isBad ? 'Problem' : 'Warning'}</span>
      </span>
      <div class="problem-text">
        <h3>{title}</h3>
        <p class="soft">
          {explanation} {page !== null && <a href={addressOf(page)}>See more</a>}
        </p>
      </div>
      <div class="problem-fix">{command !== null && <Command text={command} />}</div>
      <span class="problem-since small faint num">
        {since !== null && <RelativeTime time={since} />}
      </span>
    </li>
  )
}

/** Pages of the console begin with `/server`; others are guides. */
function addressOf(page: string): string {
  return page.startsWith('/server') ? `/console${page}` : page
}
