import type { Service } from '@strongroom/kit/service'
import { originOf } from './own-origin.ts'
import { groupAnchor } from './pages/reference/anchors.ts'

/** Where people find a service: its page, or its part of the API reference. */
export function serviceHref(
  service: Pick<Service, 'title' | 'mount' | 'hasPage' | 'originSetting'>,
  options: Parameters<typeof originOf>[1],
): string {
  if (!service.hasPage) return `/docs#${groupAnchor(service.title)}`
  const origin = originOf(service, options)
  if (origin !== undefined) return `${origin}/`
  return options.atRoot ? '/' : `${service.mount}/`
}
