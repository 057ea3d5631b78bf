/** Light, dark, or as the system has it. */
import { signal } from '@preact/signals'
import { readSetting, writeSetting } from '../parts/format.ts'

export const theme = signal(readSetting('theme') ?? 'system')

export function setTheme(value: string): void {
  theme.value = value
  writeSetting('theme', value === 'system' ? undefined : value)
  applyTheme()
}

export function applyTheme(): void {
  const { dataset } = document.documentElement
  if (theme.peek() === 'system') delete dataset['theme']
  else dataset['theme'] = theme.peek()
}
