/** How much of a limit is used, and how much will be. */
import type { ComponentChildren } from 'preact'
import { formatNumber } from './format.ts'

/** From this share on, the limit is near. */
const NEAR_SHARE = 0.8

/** The bar alone, beside numbers. */
export function MeterBar(props: {
  used: number
  limit: number
  /** Expected use, drawn behind the present one. */
  ahead?: number | undefined
  /** Being full is not a problem, as of progress. */
  isNeutral?: boolean | undefined
}) {
  const { used, limit, ahead, isNeutral = false } = props
  const share = (value: number) => Math.min(100, (value / Math.max(limit, 1)) * 100)
  const near = share(used) >= NEAR_SHARE * 100 ? 'is-warn-fill' : undefined
  const look = isNeutral ? undefined : used >= limit ? 'is-bad-fill' : near
  return (
    <svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {ahead !== undefined && <rect class="ahead" width={share(ahead)} height="8" />}
      <rect class={look} width={share(used)} height="8" />
    </svg>
  )
}

export function Meter(props: {
  name: string
  used: number
  limit: number
  /** Expected use, drawn behind the present one. */
  ahead?: number
  /** Instead of `12 of 50`. */
  text?: string
  /** Being full is not a problem, as of progress. */
  isNeutral?: boolean
  children?: ComponentChildren
}) {
  const { name, used, limit, ahead, children } = props
  return (
    <div class="field">
      <div class="line-field small">
        <span class="strong">{name}</span>
        <span class="push num">
          {props.text ?? `${formatNumber(used)} of ${formatNumber(limit)}`}
        </span>
      </div>
      <MeterBar used={used} limit={limit} ahead={ahead} isNeutral={props.isNeutral} />
      {children !== undefined && <span class="hint">{children}</span>}
    </div>
  )
}

/** In one line: `Minute ▬▬ 4 of 90`. */
export function LimitLine(props: { name: string; used: number; limit: number }) {
  const { name, used, limit } = props
  return (
    <div class="rate">
      <span class="soft">{name}</span>
      <MeterBar used={used} limit={limit} />
      <span class="num small">
        {formatNumber(used)} of {formatNumber(limit)}
      </span>
    </div>
  )
}
