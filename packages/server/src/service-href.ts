import type { Service } from '@strongroom/kit/service'
import { groupAnchor } from './pages/reference/anchors.ts'

/** Where people find a service: its page, or its part of the API reference. */
export function serviceHref(
  { title, mount, hasPage = false }: Pick<Service, 'title' | 'mount' | 'hasPage'>,
  { atRoot = false }: { atRoot?: boolean | undefined },
): string {
  if (!hasPage) return `/docs#${groupAnchor(title)}`
  return atRoot ? '/' : `${mount}/`
}
