/** The settings of the server and of all its services. */
import { isLoopbackHost } from '@strongroom/kit/safe-fetch/public-address'
import type { Service } from '@strongroom/kit/service'
import { settingsWith } from './own-settings.ts'
import { services } from './services.ts'

export const settings = settingsWith(services)

export type Settings = ReturnType<typeof settings.parse>

/**
 * Whether only this machine can reach a server with these listeners: nothing says that a proxy or
 * another name leads to it.
 */
export function isLocalServer(values: Settings, listeners: readonly { host: string }[]): boolean {
  const { PUBLIC_URL: publicUrl, STRONGROOM_TRUSTED_PROXIES: proxies } = values
  const all: Readonly<Record<string, unknown>> = values
  const origins = services.flatMap(({ originSetting }: Pick<Service, 'originSetting'>) =>
    originSetting === undefined ? [] : (all[originSetting] ?? []),
  )
  const isProxied = !('hops' in proxies && proxies.hops === 0)
  if (publicUrl !== undefined || isProxied || origins.length > 0) return false
  return listeners.every(({ host: name }) => isLoopbackHost(name))
}
