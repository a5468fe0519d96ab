import { useLingui } from "@lingui/react/macro";
import { Languages, Monitor, Moon, Sun } from "lucide-react";
import { languageNames, setLanguage, type Language } from "../lib/i18n";
import { setTheme, useTheme } from "../lib/theme";
import type { ThemeChoice } from "../lib/theme-choice";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuTrigger,
} from "../ui/dropdown-menu";
import { IconButton } from "../ui/icon-button";

const languages: readonly Language[] = ["zh", "en"];

/** Chooses the language. */
export function LanguageMenu() {
  const { t, i18n } = useLingui();
  return (
    <DropdownMenu>
      <DropdownMenuTrigger asChild>
        <IconButton label={t`语言`}>
          <Languages />
        </IconButton>
      </DropdownMenuTrigger>
      <DropdownMenuContent>
        <DropdownMenuRadioGroup value={i18n.locale}>
          {languages.map((language) => (
            <DropdownMenuRadioItem key={language} value={language} onSelect={() => void setLanguage(language)}>
              <span lang={language === "zh" ? "zh-CN" : "en"}>{languageNames[language]}</span>
            </DropdownMenuRadioItem>
          ))}
        </DropdownMenuRadioGroup>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}

/** Chooses the theme: day, dark or the system's. */
export function ThemeMenu() {
  const { t } = useLingui();
  const theme = useTheme();
  const themes = [
    { value: "light", icon: Sun, label: t`日间模式` },
    { value: "dark", icon: Moon, label: t`夜间模式` },
    { value: "system", icon: Monitor, label: t`跟随系统` },
  ] as const satisfies readonly { value: ThemeChoice; icon: unknown; label: string }[];
  const Current = themes.find(({ value }) => value === theme)?.icon ?? Monitor;
  return (
    <DropdownMenu>
      <DropdownMenuTrigger asChild>
        <IconButton label={t`主题`}>
          <Current />
        </IconButton>
      </DropdownMenuTrigger>
      <DropdownMenuContent>
        <DropdownMenuRadioGroup value={theme}>
          {themes.map(({ value, icon: Icon, label }) => (
            <DropdownMenuRadioItem key={value} value={value} onSelect={() => setTheme(value)}>
              <Icon aria-hidden className="size-4" />
              {label}
            </DropdownMenuRadioItem>
          ))}
        </DropdownMenuRadioGroup>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
