/** The end of a list that is loaded page by page. */
import { useEffect, useRef } from 'preact/hooks'
import { formatCount } from './format.ts'
import type { PagedList } from './paged-list.ts'

/** Loads the next page when it comes into view. */
export function More({ list }: { list: PagedList<unknown> }) {
  const ref = useRef<HTMLDivElement>(null)
  const hasMore = list.hasMore.value
  useEffect(() => {
    const element = ref.current
    if (!element || !hasMore) return undefined
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) list.loadMore()
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [hasMore, list.items.value])
  const loaded = list.items.value?.length ?? 0
  return (
    <div class="list-note" ref={ref}>
      {hasMore ? (
        <button class="button button-small" type="button" onClick={() => list.loadMore()}>
          <span>{list.isLoading.value ? 'Loading…' : 'Load more'}</span>
        </button>
      ) : (
        `All ${formatCount(loaded, 'entry', 'entries')} loaded`
      )}
    </div>
  )
}
