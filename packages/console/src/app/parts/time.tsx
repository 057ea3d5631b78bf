/** Times: relative in lists, exact in details, each with the other as its title. */
import { formatExact, formatRelative, isExact, now } from './format.ts'

type Time = string | number

const toMs = (time: Time) => (typeof time === 'string' ? Date.parse(time) : time)

/** `4 min`, or the exact time while exact times are chosen. */
export function RelativeTime({ time, suffix = '' }: { time: Time; suffix?: string }) {
  const ms = toMs(time)
  const exact = formatExact(ms)
  const relative = formatRelative(ms, now.value)
  const text = isExact.value ? exact : relative === 'now' ? relative : relative + suffix
  return (
    <time dateTime={new Date(ms).toISOString()} title={exact}>
      {text}
    </time>
  )
}

/** `12:04:31.218 UTC`, with the relative time as its title. */
export function ExactTime({ time, withMs = true }: { time: Time; withMs?: boolean }) {
  const ms = toMs(time)
  const relative = formatRelative(ms, now.value)
  const title =
    relative === 'now' ? relative : ms > now.value ? `in ${relative}` : `${relative} ago`
  return (
    <time dateTime={new Date(ms).toISOString()} title={title}>
      {formatExact(ms, { withMs })}
    </time>
  )
}
