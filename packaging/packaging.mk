# SPDX-License-Identifier: GPL-2.0-or-later
# Packages: they lie in $(PACKAGES) once they are made.

PACKAGES   := $(BUILD)/packages
SOURCES    := proftrace-$(VERSION)

# The sources alone, with what the packaging wants at its own place.
define copy_sources
	$(Q)rm -rf $1 && mkdir -p $1
	$(Q)git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t $1
endef

deb: ## install what is missing, build build/packages/*.deb
	$(Q)scripts/install-deps.sh build package
	$(call copy_sources,$(PACKAGES)/deb/$(SOURCES))
	$(Q)cp -r packaging/debian $(PACKAGES)/deb/$(SOURCES)
	$(Q)printf 'proftrace (%s) unstable; urgency=medium\n\n  * As of this commit.\n\n -- %s  %s\n' '$(VERSION)' \
		"$$(sed -n 's/^Maintainer: //p' packaging/debian/control)" "$$(git log -1 --format=%cD)" \
		> $(PACKAGES)/deb/$(SOURCES)/debian/changelog
	$(Q)cd $(PACKAGES)/deb/$(SOURCES) && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -b -us -uc > ../log 2>&1 || { tail -30 ../log; exit 1; }
	$(Q)mv $(PACKAGES)/deb/proftrace_*.deb $(PACKAGES) && ls $(PACKAGES)/*.deb

# One program for all machines with this glibc or a newer one: other libraries are linked in, but
# for those that Debian has no static ones of, which lie beside it, and those that are opened when
# they are needed.
OLD_GLIBC  := 2.28
STUBS      := $(PACKAGES)/glibc-$(OLD_GLIBC)
SHARED     := Zydis
PORTABLE   := $(PACKAGES)/portable/proftrace
TARBALL    := proftrace-$(VERSION)-x86_64
STATIC     := $(filter-out $(SHARED:%=-l%) -lZycore -lpthread -lm -ldl,$(LIBS)) -lbz2

$(STUBS)/libc.so.6: packaging/glibc-stubs
	$(call say,STUBS,$(@D))packaging/glibc-stubs $(OLD_GLIBC) $(@D)
$(PORTABLE): $(BUILD)/packaging/old_glibc.o $(MAIN:%.c=$(BUILD)/%.o) $(LIB) $(STUBS)/libc.so.6
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -pie -nostartfiles -nodefaultlibs $(LDFLAGS) -Wl,-z,now,-rpath,'$$ORIGIN/../lib/proftrace' -o $@ $(filter %.o %.a,$^) \
		-Wl,-Bstatic $(STATIC) -l:libc_nonshared.a -lgcc -lgcc_eh -Wl,-Bdynamic $(SHARED:%=-l%) \
		-L$(STUBS) -Wl,--no-as-needed $(addprefix -l:,libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2)

tarball: all ## install what is missing, build build/packages/*.tar.gz: runs with glibc 2.28 or newer
	$(Q)scripts/install-deps.sh build package
	$(Q)$(MAKE) --no-print-directory $(PORTABLE)
	$(Q)rm -rf $(PACKAGES)/$(TARBALL)
	$(Q)$(MAKE) --no-print-directory install DESTDIR=$(PACKAGES)/$(TARBALL) PREFIX=
	$(Q)install -s $(PORTABLE) $(PACKAGES)/$(TARBALL)/bin
	$(Q)cp README.md LICENSE $(PACKAGES)/$(TARBALL)
	$(Q)mkdir -p $(PACKAGES)/$(TARBALL)/lib/proftrace $(PACKAGES)/$(TARBALL)/share/doc/proftrace/libraries
	$(Q)ldd $(PORTABLE) | sed -nE 's,.* => (/.*/lib($(SHARED))\..*) \(.*,\1,p' | xargs cp -Lt $(PACKAGES)/$(TARBALL)/lib/proftrace
	$(Q)for lib in $(STATIC:-l%=lib%.a) $(SHARED:%=lib%.so); do \
		package=$$(dpkg -S "$$($(CC) -print-file-name=$$lib | xargs realpath)" | cut -d: -f1) && \
		cp /usr/share/doc/$$package/copyright $(PACKAGES)/$(TARBALL)/share/doc/proftrace/libraries/$$package || exit 1; done
	$(Q)tar -C $(PACKAGES) --owner=0 --group=0 -czf $(PACKAGES)/$(TARBALL).tar.gz $(TARBALL) && ls $(PACKAGES)/$(TARBALL).tar.gz

rpm: ## install what is missing, build build/packages/*.rpm, by this machine's libraries
	$(Q)scripts/install-deps.sh build package
	$(call copy_sources,$(PACKAGES)/rpm/$(SOURCES))
	$(Q)tar -C $(PACKAGES)/rpm -czf $(PACKAGES)/rpm/$(SOURCES).tar.gz $(SOURCES)
	$(Q)env -u MAKEFLAGS -u MAKELEVEL rpmbuild -bb --nodeps --define 'version $(VERSION)' --define "_topdir $(abspath $(PACKAGES))/rpm" \
		--define "_sourcedir $(abspath $(PACKAGES))/rpm" packaging/proftrace.spec > $(PACKAGES)/rpm/log 2>&1 || { tail -30 $(PACKAGES)/rpm/log; exit 1; }
	$(Q)mv $(PACKAGES)/rpm/RPMS/*/*.rpm $(PACKAGES) && ls $(PACKAGES)/*.rpm

# Where they are to run. `make packages PACKAGES_ARGS="--help"` tells what can be chosen.
packages: all $(addprefix $(PROGRAMS)/calc-,static pie) ## install what is missing, make all packages, try them on fresh machines (root)
	$(Q)scripts/install-deps.sh build package
	$(Q)tests/packages/run --build $(BUILD) $(PACKAGES_ARGS)

.PHONY: deb tarball rpm packages
