# cmake -DFOLDER=page -DSCRIPTS="a.js|b.js" -DOUTPUT=FILE -P EmbedPage.cmake
# Writes the page's style, frame and scripts as C++ text into FILE. The scripts become one, in their order.
function(append_text name)
  set(text "")
  foreach(file IN LISTS ARGN)
    file(READ ${FOLDER}/${file} content)
    if(content MATCHES "\\)page\"" OR content MATCHES "</script|</style")
      message(FATAL_ERROR "${file}: contains what would end the text that it is embedded in")
    endif()
    string(APPEND text "${content}")
  endforeach()
  # A compiler need not take long literals whole, so each line is one; they join.
  string(REPLACE "\n" "\n)page\"\nR\"page(" text "${text}")
  set(out "${out}const std::string_view ${name} = R\"page(${text})page\";\n\n" PARENT_SCOPE)
endfunction()

string(REPLACE "|" ";" SCRIPTS "${SCRIPTS}")
set(out "// Made by EmbedPage.cmake of the files in runtime/report/page.\n#include \"runtime/report/PageFiles.h\"\n\nnamespace gc::runtime {\n\n")
append_text(pageStyle page.css)
append_text(pageStep step.html)
append_text(pageScript ${SCRIPTS})
file(WRITE ${OUTPUT} "${out}} // namespace gc::runtime\n")
