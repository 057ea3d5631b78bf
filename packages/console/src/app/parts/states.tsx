/** What a page shows when it has nothing to show: loading, empty, failed, not allowed, not found. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ApiFailure, messageOf } from '../api/errors.ts'
import { CopyId, Command } from './copy.tsx'
import { formatDuration, now } from './format.ts'
import { Icon } from './icon.tsx'
import type { Resource } from './resource.ts'

/** Most responses come sooner, and a flash of grey would only disturb. */
const LOADING_AFTER_MS = 150

/** The shape of what comes, after a moment. */
export function Loading({ rows = 5 }: { rows?: number }) {
  const isShown = useSignal(false)
  useEffect(() => {
    const timer = setTimeout(() => (isShown.value = true), LOADING_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="loading" role="status" aria-busy="true">
      <span class="unseen">Loading</span>
      {isShown.value && (
        <ol class="list" aria-hidden="true">
          {Array.from({ length: rows }, (_, index) => (
            <li class="row" key={index}>
              <span class="row-status bone bone-dot" />
              <span class="row-name">
                <span class={`bone bone-${[65, 35, 50][index % 3]}`} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

const GLYPHS = {
  empty: ['M4 7.500h16v11H4z', 'M4 7.500l3-3.500h10l3 3.500', 'M9.500 11.500h5'],
  none: ['M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13z', 'M15.300 15.300 20 20'],
  failed: ['M12 4 21 19.500H3z', 'M12 10v4', 'M12 16.800v.01'],
  locked: ['M6 11h12v9H6z', 'M8.500 11V8a3.500 3.500 0 0 1 7 0v3'],
} as const

/** Names the thing, says what it is for, and offers one primary button and the command for it. */
export function Empty(props: {
  glyph?: keyof typeof GLYPHS
  title: string
  children?: ComponentChildren
  /** Buttons; the first one is the primary one. */
  actions?: ComponentChildren
  /** The command that does the same. */
  command?: string
}) {
  const { glyph = 'empty' } = props
  const look = { failed: ' glyph-bad', locked: ' glyph-mute', none: '', empty: '' }[glyph]
  return (
    <div class="empty">
      <svg class={`empty-glyph${look}`} viewBox="0 0 24 24" aria-hidden="true">
        {GLYPHS[glyph].map((d) => (
          <path d={d} key={d} />
        ))}
      </svg>
      <h2>{props.title}</h2>
      {props.children !== undefined && <p>{props.children}</p>}
      {props.actions !== undefined && <div class="buttons">{props.actions}</div>}
      {props.command !== undefined && <Command text={props.command} />}
    </div>
  )
}

/** Why the data could not be loaded; tries again by itself where that can help. */
export function Failed(props: {
  what: string
  resource: Pick<Resource<unknown>, 'error' | 'retryAt' | 'reload'>
}) {
  const { what, resource } = props
  const error = resource.error.value
  if (error instanceof ApiFailure && error.status === 403)
    return (
      <Empty glyph="locked" title={`You have no access to ${what}`}>
        {error.message}
      </Empty>
    )
  if (error instanceof ApiFailure && error.status === 404)
    return (
      <Empty glyph="none" title={error.message.replace(/\.$/, '')}>
        It was deleted, or the address is wrong.
      </Empty>
    )
  const retryAt = resource.retryAt.value
  const wait = retryAt === undefined ? undefined : Math.max(0, retryAt - now.value)
  return (
    <Empty
      glyph="failed"
      title={`Could not load ${what}`}
      actions={
        <>
          <button class="button button-primary" type="button" onClick={() => resource.reload()}>
            <Icon name="replay" />
            <span>Try now</span>
          </button>
          {error instanceof ApiFailure && error.requestId !== undefined && (
            <CopyId id={error.requestId} what="request id" />
          )}
        </>
      }
    >
      {messageOf(error)}
      {wait !== undefined && ` Next try in ${formatDuration(Math.ceil(wait / 1000) * 1000)}.`}
    </Empty>
  )
}

/** Shows the data, or the state that it is in. `what` is a plural, such as "events". */
export function Loaded<T>(props: {
  resource: Resource<T>
  what: string
  loading?: ComponentChildren
  children: (data: T) => ComponentChildren
}) {
  const { resource } = props
  const data = resource.data.value
  if (data !== undefined) return <>{props.children(data)}</>
  if (resource.error.value !== undefined) return <Failed what={props.what} resource={resource} />
  return <>{props.loading ?? <Loading />}</>
}

/** The end of a list of which there is more. */
export function LoadMore({ onClick }: { onClick: () => void }) {
  return (
    <div class="list-note">
      <button class="button button-small" type="button" onClick={onClick}>
        <span>Load more</span>
      </button>
    </div>
  )
}
